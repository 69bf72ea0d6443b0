/** Decimals of a currency that Intl does not support. */
const fallbackDigits = 4;

function digitsOf(currency: string): number {
  try {
    return (
      new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
        .maximumFractionDigits ?? 2
    );
  } catch {
    return fallbackDigits;
  }
}

/** Rounds an amount to the decimals of its currency: Flow refuses pesos with decimals. */
export const roundAmount = (amount: number, currency: string): number =>
  Number(amount.toFixed(digitsOf(currency)));
