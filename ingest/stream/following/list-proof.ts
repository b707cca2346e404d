/** Whether all accounts of the program are known. */
export type ListStatus =
  /** No node lists them. */
  | 'refused'
  /** What was listed is not all of them. */
  | 'part'
  /** Nothing says that the list lacks any. */
  | 'unproved'
  /** It lacks none that the whole history names. */
  | 'proved';

export interface ListProofOptions {
  /** Accounts that history names and nobody has read yet. */
  named(): Promise<string[]>;
  /** Whether a list or the stream brought it, or an account that they brought names it. */
  isKnown(address: string): boolean;
  /** Whether everything of history is read. */
  isHistoryRead(): Promise<boolean>;
  /** Reads these accounts and answers how many of them are there. */
  read(addresses: readonly string[]): Promise<number>;
  /** Has the accounts listed again. */
  listAgain(): void;
  onProved(): void;
}

/**
 * Compares what was listed with what history names. A node's word is not enough that its list is whole: one that it
 * cut short is no error.
 */
export function createListProof(options: ListProofOptions): (listed: ListStatus) => Promise<void> {
  /** Named, asked for and not there: closed, or of a transaction that the chain does not have. */
  const nothing = new Set<string>();
  return async (listed) => {
    // What is read meanwhile may name others.
    const isRead = await options.isHistoryRead();
    const strangers = (await options.named()).filter((one) => !options.isKnown(one) && !nothing.has(one));
    const there = strangers.length === 0 ? 0 : await options.read(strangers);
    if (there === 0) for (const one of strangers) nothing.add(one);
    if (listed !== 'unproved') return;
    if (there > 0) options.listAgain();
    else if (isRead) options.onProved();
  };
}
