/** What a peer orders by: the same sorts as ours, in dollars of the quote's price where they are money. */
export const RANKED = {
  marketCap: 'cap * usd',
  profit: 'profit_swept * usd',
  fees: 'fees * usd',
  burned: 'paid_to_holders * usd',
  bankroll: 'balance * usd',
  newest: 'created_at',
} as const;
