/** Flow takes more fractions in its own units (UF) than the standard knows. */
const fallbackDigits = 4;

function digitsOf(currency: string): number {
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  } catch {
    return fallbackDigits;
  }
}

/** An amount as the currency has it: Flow refuses pesos with decimals (providers.md 5.3). */
export const roundAmount = (amount: number, currency: string): number => Number(amount.toFixed(digitsOf(currency)));
