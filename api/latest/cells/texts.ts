import { eachYielding } from '../../../runtime/yielding.ts';
import type { Kind, Loaded } from '../kinds/kind.ts';

/** With its value as text: what it is kept as, and measured by. */
export interface WithText extends Loaded<unknown> {
  /** Empty where that would take long. */
  text: string;
  /** Bytes of its value. */
  size: number;
}

type SizeOf = Kind<unknown>['sizeOf'];

const textOf = (value: unknown): string => JSON.stringify(value) ?? '';

/** @param sizeOf where it is not to be written out */
export function withText({ value, until }: Loaded<unknown>, sizeOf?: SizeOf): WithText {
  if (sizeOf !== undefined) return { value, until, text: '', size: sizeOf(value) };
  const text = textOf(value);
  return { value, until, text, size: text.length };
}

/** Writes values out before they are put in place, since all of them are put there at once. */
export async function withTexts(
  values: ReadonlyMap<string, Loaded<unknown>>,
  sizeOf?: SizeOf,
): Promise<Map<string, WithText>> {
  const written = new Map<string, WithText>();
  await eachYielding(values, ([key, loaded]) => void written.set(key, withText(loaded, sizeOf)));
  return written;
}
