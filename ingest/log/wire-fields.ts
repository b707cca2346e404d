import type { ByteReader, ByteWriter } from './bytes.ts';

/** How one field of a record lies on the wire. */
export interface WireField<T> {
  write(value: T, to: ByteWriter): void;
  read(from: ByteReader): T;
}

export const u64: WireField<bigint> = {
  write: (value, to) => to.u64(value),
  read: (from) => from.u64(),
};

export const u64OrNull: WireField<bigint | null> = {
  write: (value, to) => to.optionalU64(value),
  read: (from) => from.optionalU64(),
};

/** A whole number from 0 on. */
export const count: WireField<number> = {
  write: (value, to) => to.u64(BigInt(value)),
  read: (from) => Number(from.u64()),
};

export const numberOrNull: WireField<number | null> = {
  write: (value, to) => to.optionalNumber(value),
  read: (from) => from.optionalNumber(),
};

/** Milliseconds of a clock, on the wire in the form of `numberOrNull`. */
export const clock: WireField<number> = {
  write: (value, to) => to.optionalNumber(value),
  read: (from) => from.optionalNumber() ?? 0,
};

export const flag: WireField<boolean> = {
  write: (value, to) => to.u8(Number(value)),
  read: (from) => from.u8() === 1,
};

export const bytes: WireField<Uint8Array> = {
  write: (value, to) => to.bytes(value),
  read: (from) => from.bytes(),
};

/** For bytes that are never empty: no bytes stand for null. */
export const bytesOrNull: WireField<Uint8Array | null> = {
  write: (value, to) => to.bytes(value ?? new Uint8Array(0)),
  read: (from) => {
    const value = from.bytes();
    return value.length === 0 ? null : value;
  },
};

export const text: WireField<string> = {
  write: (value, to) => to.text(value),
  read: (from) => from.text(),
};

/** For text that is never empty: '' stands for null. */
export const textOrNull: WireField<string | null> = {
  write: (value, to) => to.text(value ?? ''),
  read: (from) => {
    const value = from.text();
    return value === '' ? null : value;
  },
};

/** A value by its index in `list`, to which values may only be appended. */
export const oneOf = <T>(list: readonly T[]): WireField<T> => ({
  write: (value, to) => {
    const place = list.indexOf(value);
    if (place === -1) throw new RangeError(`${String(value)} has no place on the wire`);
    to.u8(place);
  },
  read: (from) => {
    const place = from.u8();
    if (place >= list.length) throw new RangeError(`no value ${place}`);
    return list[place] as T;
  },
});

/** @param shown turns a value into what is written as JSON, and back. */
export const json = <T, Shown = T>(shown: { of(value: T): Shown; back(shown: Shown): T }): WireField<T> => ({
  write: (value, to) => to.text(JSON.stringify(shown.of(value))),
  read: (from) => shown.back(JSON.parse(from.text()) as Shown),
});
