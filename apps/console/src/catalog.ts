/** Texts in one language: strings, and functions that insert values. */
type Widened<T> = T extends string
  ? string
  : T extends (...given: infer Given) => string
    ? (...given: Given) => string
    : { [Key in keyof T]: Widened<T[Key]> };

/** The texts of one part of the console in every language. */
export interface Catalog<Texts> {
  en: Texts;
  es: Texts;
}

/** Makes a catalog. A text that one of the languages lacks does not compile. */
export function catalog<Texts>(en: Texts, es: Widened<NoInfer<Texts>>): Catalog<Widened<Texts>> {
  return { en: en as Widened<Texts>, es };
}
