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
  return { en: withoutPrototype(en as Widened<Texts>), es: withoutPrototype(es) };
}

/**
 * Many texts are looked up by a name that users chose, such as the status of an entity.
 * `constructor` must find none.
 */
function withoutPrototype<Texts>(texts: Texts): Texts {
  if (typeof texts !== 'object' || texts === null || Array.isArray(texts)) return texts;
  for (const text of Object.values(texts)) withoutPrototype(text);
  return Object.setPrototypeOf(texts, null) as Texts;
}
