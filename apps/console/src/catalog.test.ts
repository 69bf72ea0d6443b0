import { catalog } from './catalog';

const texts = catalog(
  {
    title: 'Runs',
    statuses: { open: 'open' } as Record<string, string>,
    many: (count: number) => `${count} runs`,
  },
  { title: 'Ejecuciones', statuses: { open: 'abierta' }, many: (count) => `${count} ejecuciones` },
);

test('a catalog has its texts in both languages', () => {
  expect(texts.en.title).toBe('Runs');
  expect(texts.es.many(2)).toBe('2 ejecuciones');
  expect(texts.es.statuses.open).toBe('abierta');
});

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty', ''])(
  'a text that is looked up by the name %j, which a user chose, is absent',
  (name) => {
    expect(texts.en.statuses[name]).toBeUndefined();
    expect((texts.es as unknown as Record<string, unknown>)[name]).toBeUndefined();
  },
);
