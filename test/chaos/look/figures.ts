type Json = Record<string, unknown>;

/** Members with figures that cannot fall, by the last part of the route; OF_A_COIN for all other routes. */
const PARTS = new Map([
  ['analytics', ['revenueByDayTimeSeries', 'protocolTotals']],
  ['loop', ['step1_feesClaimed', 'step2_routed', 'step5_profit', 'step6_buyback', 'credit']],
  ['fees', ['quoteLeg', 'baseLeg']],
]);
const OF_A_COIN = ['counters', 'hwm'];
/** A ratio among those figures. */
const MAY_FALL = new Set(['returnPerCredit']);

/**
 * The figures of a route's answer that cannot fall while a chain goes on, by name. Absent ones are left out, since a
 * figure may become absent.
 */
export function figuresIn(route: string, body: Json): Map<string, bigint> {
  const found = new Map<string, bigint>();
  const walk = (node: unknown, name: string): void => {
    if (Array.isArray(node)) {
      for (const item of node as Json[]) walk(item, `${name} ${item.day ?? item.quoteMint}`);
    } else if (typeof node === 'object' && node !== null) {
      if ('asOf' in node && 'source' in node) keep(name, (node as Json).value);
      else
        for (const [key, value] of Object.entries(node))
          if (!MAY_FALL.has(key)) walk(value, `${name}.${key}`);
    }
  };
  const keep = (name: string, value: unknown) => {
    if (value !== null && /^\d+$/.test(String(value))) found.set(name, BigInt(String(value)));
  };
  if (route === '/status') keep('lastProcessedSlot', (body.indexer as Json).lastProcessedSlot);
  else
    for (const part of PARTS.get(route.split('/').at(-1) ?? '') ?? OF_A_COIN)
      walk(body[part], `${route} ${part}`);
  return found;
}
