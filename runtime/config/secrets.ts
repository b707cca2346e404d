import type { Config } from './config.ts';

/**
 * Texts of the configuration that no answer and no line of a log may hold; of stores and nodes the whole address,
 * because keys stand in paths too.
 */
export function secretsOf(config: Config): string[] {
  const { clickhouseUrl, postgresUrl, solanaRpcUrl, yellowstoneEndpoint } = config;
  const whole = [clickhouseUrl, postgresUrl, ...(solanaRpcUrl ?? []), yellowstoneEndpoint];
  const others = [config.perpVenueUrl, config.optionsVenueUrl, config.launchpadCatalogueUrl];
  const urls = [...whole, ...others, config.priceUrl, config.ipfsGateway];
  const passwords = urls.map((url) => (url !== null && URL.canParse(url) ? new URL(url).password : null));
  const all = [
    config.yellowstoneXToken,
    config.kafkaSaslPassword,
    ...whole,
    ...passwords,
    ...passwords.map((password) => (password === null ? null : decoded(password))),
  ];
  return [...new Set(all.filter((text) => text !== null && text !== ''))] as string[];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const LOGIN = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"'<>\\]+@/gi;

/** The text without these secrets, in any of the forms in which they may stand in it, and without logins of addresses. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let hidden = text;
  for (const secret of secrets) {
    for (const form of new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]))
      if (form !== '') hidden = hidden.replaceAll(form, '***');
  }
  return hidden.replace(LOGIN, '$1');
}

/** Where an address leads, without what stands in it for whoever may go there. */
export function shownHost(endpoint: string): string {
  const url = endpoint.includes('://') ? endpoint : `http://${endpoint}`;
  return URL.canParse(url) ? new URL(url).host : 'as configured';
}
