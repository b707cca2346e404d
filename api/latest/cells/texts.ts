import { eachYielding } from '../../../runtime/yielding.ts';
import type { Kind, Loaded } from '../kinds/kind.ts';

/** A loaded value with its JSON text, which it is kept as when folded, and measured by. */
export interface WithText extends Loaded<unknown> {
  /** Empty where writing it would take long. */
  text: string;
  /** Bytes of its value. */
  size: number;
}

type SizeOf = Kind<unknown>['sizeOf'];

const textOf = (value: unknown): string => JSON.stringify(value) ?? '';

/** @param sizeOf given where the value is not to be written out as text */
export function withText({ value, until }: Loaded<unknown>, sizeOf?: SizeOf): WithText {
  if (sizeOf !== undefined) return { value, until, text: '', size: sizeOf(value) };
  const text = textOf(value);
  return { value, until, text, size: text.length };
}

/** Writes values out in steps before they are put in place, since that happens for all of them at once. */
export async function withTexts(
  values: ReadonlyMap<string, Loaded<unknown>>,
  sizeOf?: SizeOf,
): Promise<Map<string, WithText>> {
  const written = new Map<string, WithText>();
  await eachYielding(values, ([key, loaded]) => void written.set(key, withText(loaded, sizeOf)));
  return written;
}
