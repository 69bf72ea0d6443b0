import { dataOf } from './payment-data';

test('the fields of a payment are texts, whatever someone has made of the entity', () => {
  expect(
    dataOf({
      data: {
        amount: '12',
        currency: 4,
        status: null,
        description: { a: 1 },
        customerEmail: ['x'],
        failureReason: false,
      },
    }),
  ).toEqual({
    amount: '12',
    currency: 4,
    status: '',
    description: '{"a":1}',
    customerEmail: '["x"]',
    providerReference: '',
    failureReason: 'false',
    paymentLinkUrl: null,
    paidAt: null,
  });
});

test.each([
  ['https://flow.example/pay?token=a', 'https://flow.example/pay?token=a'],
  ['http://localhost:4000/pay', 'http://localhost:4000/pay'],
  ['javascript:alert(1)//https://x', null],
  [' https://flow.example', null],
  ['data:text/html,x', null],
  ['//flow.example', null],
  ['', null],
  [{ href: 'https://flow.example' }, null],
])('a browser opens the link %j as %j', (paymentLinkUrl, opened) => {
  expect(dataOf({ data: { paymentLinkUrl } }).paymentLinkUrl).toBe(opened);
});

test.each([
  [0, 0],
  [1_795_374_418_289, 1_795_374_418_289],
  ['2026-01-01', null],
  [null, null],
])('the time %j of a payment is %j', (paidAt, at) => {
  expect(dataOf({ data: { paidAt } }).paidAt).toBe(at);
});
