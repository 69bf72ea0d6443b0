import { textsFor } from './texts';

test.each(['es', 'ES', 'es-CL', 'es-419'])('the tag %s is Spanish', (tag) => {
  expect(textsFor(tag).send).toBe('Enviar');
});

test.each(['en', 'en-US', '', 'est', 'pt-BR', 'x-es', 'constructor'])(
  'the tag %j is English',
  (tag) => {
    expect(textsFor(tag).send).toBe('Send');
  },
);
