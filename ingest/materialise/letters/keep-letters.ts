import { messageOf } from '../../../runtime/errors.ts';
import type { DeadLetterRecord } from '../../../schemas/records.ts';

export type KeepLetters = (letters: readonly DeadLetterRecord[]) => Promise<void>;

/** Letters could not be kept outside of the database, of which that says nothing. */
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
