/** Whether all accounts of the program are known. */
export type ListStatus =
  /** No node lists them. */
  | 'refused'
  /** No node answers with a list, though nodes answer other requests. */
  | 'silent'
  /** What was listed is not all of them. */
  | 'part'
  /** Nothing says that the list lacks any. */
  | 'unproved'
  /** It lacks none that the whole history names. */
  | 'proved';

/** What came of reading accounts that are not in a list. */
export interface ReadBeside {
  /** Those that exist and that the program made itself, not those that somebody gave it. */
  owned: readonly string[];
  /** Those that could not be read: whether they exist is not known. */
  left: readonly string[];
}

export interface ListProofOptions {
  /** Accounts that history names and nobody has read yet. */
  named(): Promise<string[]>;
  /** Whether the last list or the stream brought it, or an account that they brought names it. */
  isKnown(address: string): boolean;
  /** Whether everything of history is read. */
  isHistoryRead(): Promise<boolean>;
  read(addresses: readonly string[]): Promise<ReadBeside>;
  /** Whether the list may lack an account that could not be read. */
  isInDoubt(): boolean;
  /** Has the accounts listed again. */
  listAgain(): void;
  /** Called with the number of existing accounts that both this list and the one before lack. */
  onLacking(accounts: number): void;
  onProved(): void;
}

const NONE: ReadBeside = { owned: [], left: [] };

/**
 * Compares what was listed with what history names. That a node lists something does not prove the list whole: one that
 * was cut short comes without an error.
 */
export function createListProof(options: ListProofOptions): (listed: ListStatus) => Promise<void> {
  /** Named, asked for and not there: closed, or of a transaction that the chain does not have. */
  const nothing = new Set<string>();
  /** There, and not in the last list that was compared. One that decodes is known from then on. */
  let lacked = new Set<string>();
  return async (listed) => {
    // Asked first: history that is read meanwhile may name further accounts.
    const isRead = await options.isHistoryRead();
    const strangers = (await options.named()).filter((one) => !options.isKnown(one) && !nothing.has(one));
    const { owned, left } = strangers.length === 0 ? NONE : await options.read(strangers);
    if (owned.length === 0) for (const one of strangers) if (!left.includes(one)) nothing.add(one);
    if (listed !== 'unproved') return;
    const again = owned.filter((one) => lacked.has(one)).length;
    lacked = new Set(owned);
    if (again > 0) options.onLacking(again);
    else if (owned.length > 0) options.listAgain();
    else if (isRead && left.length === 0 && !options.isInDoubt()) options.onProved();
  };
}
