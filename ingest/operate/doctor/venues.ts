import { fetchBounded } from '../../../runtime/outside/fetch.ts';
import { askOptionsVenue } from '../../../runtime/outside/venue-call.ts';
import { NO_ADDRESS } from '../../../schemas/records.ts';
import { listedPairs } from '../../../schemas/venues/catalogue.ts';
import { readCurrencies } from '../../../schemas/venues/options.ts';
import { readClearinghouseState } from '../../../schemas/venues/perp.ts';
import { readPrices } from '../../../schemas/venues/prices.ts';
import type { RemoteVenue } from '../../../schemas/venues/remote.ts';
import { type Polled, poll } from '../../poll/venues/call.ts';
import { LIST, readListed, whyUnusable } from '../../poll/venues/catalogue.ts';

const NOBODY = `0x${'0'.repeat(40)}`;
const WRAPPED_SOL = 'So11111111111111111111111111111111111111112';
/** The content address of nothing: every gateway knows it. */
const EMPTY_DOCUMENT = 'bafkqaaa';
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1024 * 1024;

async function checkPerpVenue(base: string, signal: AbortSignal): Promise<string> {
  const body = { type: 'clearinghouseState', user: NOBODY };
  const call = { url: `${base}/info`, what: 'clearinghouseState', where: NO_ADDRESS, body, signal };
  soundValue(await poll(call, readClearinghouseState));
  return 'answers an account state';
}

async function checkOptionsVenue(base: string, signal: AbortSignal): Promise<string> {
  const { rows, bad } = readCurrencies(await askOptionsVenue(base, 'get_all_currencies', {}, { signal }));
  return `${rows.length} currencies with options${noRows(bad)}`;
}

export const VENUE_CHECKS: Record<RemoteVenue, (base: string, signal: AbortSignal) => Promise<string>> = {
  perp: checkPerpVenue,
  options: checkOptionsVenue,
};

export async function checkCatalogue(base: string, signal: AbortSignal): Promise<string> {
  const url = `${base}/pairs?launchable=true&launchLabReady=true`;
  const polled = await poll({ url, what: 'pairs', where: NO_ADDRESS, signal, ...LIST }, listedPairs);
  const pairs = await readListed(soundValue(polled), base);
  const error = whyUnusable(pairs);
  if (error !== null) throw new Error(error);
  const { rows, bad } = pairs;
  return `${rows.length} pairs${noRows(bad)}`;
}

const noRows = ({ length }: readonly unknown[]) =>
  length === 0 ? '' : `, ${length} rows that cannot be read`;

export async function checkPrices(base: string, signal: AbortSignal): Promise<string> {
  const url = `${base}/mint/price?mints=${WRAPPED_SOL}`;
  const polled = await poll({ url, what: 'prices', where: NO_ADDRESS, signal }, (reply) =>
    readPrices(reply, [WRAPPED_SOL]),
  );
  const price = soundValue(polled).get(WRAPPED_SOL);
  return price == null ? 'answers, without a price of wrapped SOL' : `wrapped SOL at ${price} USD`;
}

export async function checkGateway(base: string, signal: AbortSignal): Promise<string> {
  const url = `${base}/ipfs/${EMPTY_DOCUMENT}`;
  const { status } = await fetchBounded(url, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal });
  if (status >= 400) throw new Error(`answered ${status}`);
  return `answers HTTP ${status}`;
}

function soundValue<T>(polled: Polled<T>): T {
  if ('error' in polled) throw new Error(polled.error);
  return polled.value;
}
