import { loadConfig, trustedProxies } from '@parley/service';
import { gatewayVariables } from './config';

it('reads trusted proxies as addresses and ranges of both families', () => {
  const { TRUSTED_PROXIES } = loadConfig(gatewayVariables, {
    TRUSTED_PROXIES: '10.0.0.0/8, 192.168.1.7,fd00::/8',
  });
  const isTrusted = trustedProxies(TRUSTED_PROXIES);
  for (const address of ['10.9.8.7', '192.168.1.7', 'fd12::1', '::ffff:10.0.0.1'])
    expect(isTrusted(address)).toBe(true);
  for (const address of ['192.168.1.8', '11.0.0.1', 'fc12::1', ''])
    expect(isTrusted(address)).toBe(false);
});

it('trusts no proxy by default', () => {
  const isTrusted = trustedProxies(loadConfig(gatewayVariables, {}).TRUSTED_PROXIES);
  for (const address of ['127.0.0.1', '::1']) expect(isTrusted(address)).toBe(false);
});

it.each(['everybody', '10.0.0.0/99', '10.0.0.256', '10.0.0.0/', '10/8'])('refuses %s', (text) => {
  expect(() => loadConfig(gatewayVariables, { TRUSTED_PROXIES: text })).toThrow(
    'TRUSTED_PROXIES: must be addresses',
  );
});
