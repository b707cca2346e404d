import { eachYielding } from '../../../runtime/yielding.ts';
import type { Loaded } from '../kinds/kind.ts';

/** With its value as text: what it is kept as, and measured by. */
export interface WithText extends Loaded<unknown> {
  text: string;
}

const textOf = (value: unknown): string => JSON.stringify(value) ?? '';

export const withText = ({ value, until }: Loaded<unknown>): WithText => ({
  ...{ value, until },
  text: textOf(value),
});

/** Writes values out before they are put in place, since all of them are put there at once. */
export async function withTexts(
  values: ReadonlyMap<string, Loaded<unknown>>,
): Promise<Map<string, WithText>> {
  const written = new Map<string, WithText>();
  await eachYielding(values, ([key, loaded]) => void written.set(key, withText(loaded)));
  return written;
}
