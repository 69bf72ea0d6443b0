/**
 * A subject on one line. Subjects contain names of contacts and organizations and texts of models,
 * and a line break in a subject could begin another header of the e-mail.
 */
export const subjectOf = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
