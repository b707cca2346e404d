import type { Random } from '../program/state/random.ts';
import type { Remark } from './remarks.ts';
import type { Voice } from './voice.ts';

/** Options that one policy holds at once; with so many it releases the oldest instead of opening another. */
const MOST_HELD = 2;

async function askVenue(url: string, method: string, params: object): Promise<unknown> {
  const answer = await fetch(`${url}/public/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(params),
  }).catch(() => null);
  return ((await answer?.json().catch(() => null)) as { result?: unknown } | null)?.result ?? null;
}

interface Held {
  positionId: string;
  instrument: string;
  direction: string;
}

const pick = (value: unknown, ...path: string[]) =>
  path.reduce<unknown>((at, name) => (at as Record<string, unknown> | null | undefined)?.[name], value);

/** Opens an option that the venue lists, or releases the oldest where enough are held. @returns the remark to post */
export async function tradeOption(
  voice: Voice,
  venueUrl: string,
  random: Random,
  words: Remark,
): Promise<Remark> {
  const held = (await voice.read('/api/agent/options/positions?status=held'))?.items as Held[] | undefined;
  if (held === undefined) return words;
  const oldest = held.at(-1);
  return held.length >= MOST_HELD && oldest !== undefined
    ? release(voice, oldest, words)
    : open(voice, venueUrl, random, words);
}

async function open(voice: Voice, venueUrl: string, random: Random, words: Remark): Promise<Remark> {
  const names = (await askVenue(venueUrl, 'get_all_live_instruments', {})) as string[] | null;
  if (names === null || names.length === 0) return words;
  const instrument = random.pick(names);
  const size = pick(
    await askVenue(venueUrl, 'get_instrument', { instrument_name: instrument }),
    'minimum_amount',
  );
  const direction = random.chance(0.7) ? 'long' : 'short';
  const opened = await voice.write('options/open', { instrument, direction, size, reason: words.text });
  if (opened === null) return words;
  const price = pick(opened, 'openQuote', 'reference', 'price', 'value');
  const at = typeof price === 'string' ? `quoted at ${price}` : 'with no quote on its side of the book';
  return { kind: 'thesis', text: `${words.text} ${size} of ${instrument}, ${direction}, ${at}.` };
}

async function release(
  voice: Voice,
  { positionId, instrument, direction }: Held,
  words: Remark,
): Promise<Remark> {
  const reason = 'Room for the next one: two at a time are as many as I can watch.';
  const released = await voice.write('options/close', { positionId, reason });
  const change = pick(released, 'markToMark', 'change', 'value');
  if (released === null) return words;
  const moved =
    typeof change === 'string'
      ? `Its quote moved by ${change} a contract, which is no profit yet.`
      : 'It has no quote to be measured by.';
  return { kind: 'exit', text: `Let ${instrument} (${direction}) go. ${moved} ${reason}` };
}
