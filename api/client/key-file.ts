import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { ConfigError } from '../../runtime/errors.ts';
import { createSigner, type Signer } from './key.ts';

const OTHERS = 0o077;

/**
 * Reads a key file: a JSON list of 64 bytes. What it holds is not repeated in any error.
 * @throws ConfigError where others can read the file, or it holds no key.
 */
export function readKeyFile(file: string): Signer {
  const text = readPrivate(file);
  let bytes: unknown;
  try {
    bytes = JSON.parse(text);
  } catch {
    throw new ConfigError(`${file} is not a JSON list of 64 bytes`);
  }
  const isByte = (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 256;
  if (!Array.isArray(bytes) || bytes.length !== 64 || !bytes.every(isByte))
    throw new ConfigError(`${file} is not a JSON list of 64 bytes`);
  try {
    return createSigner(Uint8Array.from(bytes as number[]));
  } catch {
    throw new ConfigError(`the two halves of the key in ${file} do not belong together`);
  }
}

function readPrivate(file: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (error) {
    throw new ConfigError(
      `the key file ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}; --key names another`,
    );
  }
  try {
    if ((fstatSync(descriptor).mode & OTHERS) !== 0)
      throw new ConfigError(`${file} can be read by others: chmod 600 ${file}`);
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}
