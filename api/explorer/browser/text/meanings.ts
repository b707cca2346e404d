/** What numbers mean, for people who see them for the first time; by the name of the number. */
const MEANINGS: Readonly<Record<string, string>> = {
  'Market cap':
    'All tokens there are, at the price on their launch curve; of a pool that came after it no price is read.',
  Equity: 'All that is held: what is unspent, what is at work on chain, and what is attested at venues.',
  'Bankroll, unspent': 'What lies in the vault that the program owns and is not at work.',
  Bankroll: 'What lies in the vault that the program owns and is not at work.',
  'High water mark': 'What equity is measured against: profit is what lies above it. It never falls.',
  'Profit swept':
    'What was moved out of profits, to buybacks and to liquidity; a share of each profit stays at work.',
  'Profit above the mark':
    'The whole of each profit above the high water mark when it was swept. A share of it stays at work: what was moved out is less.',
  'Profit: Buybacks':
    'The holders’ share of profits: it buys the token back, and what is bought is burned. No wallet is paid.',
  'Fees routed': 'Trading fees that were divided between the protocol, liquidity and the bankroll.',
  'Tokens burned': 'Launched tokens that were bought back, or came in as fees, and were destroyed.',
  'Spent on buying back':
    'What holders’ shares of profits bought tokens with, to burn them. No wallet is paid.',
  'Events in 24 hours': 'What the program said about this policy in the last day, by the time of the chain.',
  'Bridged out':
    'Counted up whenever money was sent to this account; what is said to be there stands beside it.',
  'Attested equity':
    'What the account is worth as the protocol’s reporter wrote it on chain: the program cannot look there itself.',
  'Equity, as the venue says':
    'What the venue itself answered when it was asked last, beside what was attested.',
  'Notional, as the venue says': 'How large the open positions are, whatever money backs them.',
  'Liquidity compounded':
    'What was put into the pool of the token; what is routed to liquidity waits until it is.',
  'Inference paid for': 'What the thinking of the agent’s model has cost, as it was noted on chain.',
  'Profit for each unit of inference': 'Profit that was swept, divided by what inference has cost.',
  'Dead letters': 'What came in and could not be read; it is kept, with the reason, and counted in nothing.',
  'Incomplete transactions':
    'Transactions that do not show all that they did; sums that they belong to are absent.',
};

/** What the tags beside a policy's name mean. */
export const TAGS = {
  Agent: 'An agent decides what its bankroll does',
  Passive: 'A fixed rule decides what its bankroll does',
  Locked: 'Nobody can change its terms any more',
  Paused: 'Its money does not move until the pause is lifted',
} as const;

/** Null where the name needs no explanation. A name may end with a day: `Profit above the mark, 2026-11-22`. */
export const meaningOf = (name: string): string | null =>
  MEANINGS[name] ?? MEANINGS[name.replace(/, \d{4}-\d{2}-\d{2}$/, '')] ?? null;
