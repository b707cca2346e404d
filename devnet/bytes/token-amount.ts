/** An amount with its decimals as nodes report it, exact as text. */
export function tokenAmount(
  amount: bigint,
  decimals: number,
): { amount: string; decimals: number; uiAmountString: string } {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const part = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return { amount: amount.toString(), decimals, uiAmountString: part === '' ? whole : `${whole}.${part}` };
}
