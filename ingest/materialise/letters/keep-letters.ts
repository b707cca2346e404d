import { messageOf } from '../../../runtime/errors.ts';
import type { DeadLetterRecord } from '../../../schemas/records.ts';

export type KeepLetters = (letters: readonly DeadLetterRecord[]) => Promise<void>;

/** Dead letters could not be appended to the log, which says nothing about the database. */
export class LettersNotKeptError extends Error {
  override name = 'LettersNotKeptError';
}

/** @throws LettersNotKeptError */
export const keepLetters =
  (keep: KeepLetters = async () => {}): KeepLetters =>
  async (letters) => {
    if (letters.length === 0) return;
    try {
      await keep(letters);
    } catch (error) {
      throw new LettersNotKeptError(messageOf(error), { cause: error });
    }
  };
