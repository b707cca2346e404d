/** What a baseline orders rankings by: the same sorts as ours, amounts in dollars at the quote asset's price. */
export const RANKED = {
  marketCap: 'cap * usd',
  profit: 'profit_swept * usd',
  fees: 'fees * usd',
  burned: 'paid_to_holders * usd',
  bankroll: 'balance * usd',
  newest: 'created_at',
} as const;
