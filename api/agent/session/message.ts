import { isoMillis } from '../../../schemas/units.ts';

export const CHALLENGE_MS = 10 * 60_000;

export interface ChallengeTerms {
  service: string;
  publicUrl: string;
  mint: string;
  agent: string;
  nonce: string;
  /** Unix milliseconds. */
  issuedAt: number;
}

/** A URL as it stands in the message: printable ASCII whatever was configured, without a slash at its end. */
function shownUrl(url: string): string {
  return new URL(url).href.replace(/\/+$/, '');
}

/** The text that an agent signs, the same for the same terms. */
export function challengeMessage(terms: ChallengeTerms): string {
  return [
    `${terms.service}: agent session`,
    `URL: ${shownUrl(terms.publicUrl)}`,
    `Mint: ${terms.mint}`,
    `Agent: ${terms.agent}`,
    `Nonce: ${terms.nonce}`,
    `Issued: ${isoMillis(terms.issuedAt)}`,
    `Expires: ${isoMillis(terms.issuedAt + CHALLENGE_MS)}`,
  ].join('\n');
}
