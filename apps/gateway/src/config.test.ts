import { loadConfig, trustedProxyList } from '@parley/service';
import { gatewayVariables } from './config';

it('reads trusted proxies as addresses and ranges of both families', () => {
  const { TRUSTED_PROXIES } = loadConfig(gatewayVariables, { TRUSTED_PROXIES: '10.0.0.0/8, 192.168.1.7,fd00::/8' });
  const list = trustedProxyList(TRUSTED_PROXIES)!;
  expect(['10.9.8.7', '192.168.1.7', '192.168.1.8', '11.0.0.1'].map((address) => list.check(address))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(list.check('fd12::1', 'ipv6')).toBe(true);
  expect(list.check('::ffff:10.0.0.1', 'ipv6')).toBe(true);
});

it('trusts no proxy by default', () => {
  expect(trustedProxyList(loadConfig(gatewayVariables, {}).TRUSTED_PROXIES)).toBeNull();
});

it.each(['everybody', '10.0.0.0/99', '10.0.0.256', '10.0.0.0/'])('refuses %s', (text) => {
  expect(() => loadConfig(gatewayVariables, { TRUSTED_PROXIES: text })).toThrow('TRUSTED_PROXIES: must be addresses');
});
