import type { Program } from './program';

/**
 * Programs that try to reach private addresses, or the callback endpoint of chat
 * without a valid token.
 */
export const network: Program[] = [
  [
    'the callback endpoint without a token',
    'const r = await fetch(args.chat + "/internal/tool-calls", { method: "POST", body: "{}" }); return "escaped " + r.status',
    'vm',
  ],
  [
    'a forged token',
    'const r = await fetch(args.chat + "/internal/tool-calls", { method: "POST", headers: { authorization: "Bearer forged" }, body: "{}" }); return "escaped " + r.status',
    'vm',
  ],
  [
    'metadata address',
    'return "escaped " + await (await fetch("http://169.254.169.254/latest/meta-data/")).text()',
    'node',
  ],
  [
    'metadata as a number',
    'return "escaped " + await (await fetch("http://2852039166/")).text()',
    'node',
  ],
  [
    'loopback as IPv6',
    'return "escaped " + await (await fetch(args.chat.replace("127.0.0.1", "[::ffff:127.0.0.1]"))).text()',
    'node',
  ],
  [
    'a tool name with a path',
    'const r = await parley["../../v1/sync/pull"]({}); return "escaped " + r',
    'prelude',
  ],
  [
    'a tool name with a header',
    'const r = await parley["x\\r\\nAuthorization: Bearer other"]({}); return "escaped " + r',
    'prelude',
  ],
  [
    'a host header',
    'const r = await fetch(args.chat, { headers: { host: "example.com", "x-forwarded-host": "example.com" } }); return "escaped " + r.status',
    'vm',
  ],
  [
    'WebSocket and similar globals',
    'for (const n of ["WebSocket", "XMLHttpRequest", "EventSource", "RTCPeerConnection", "navigator", "Worker"]) if (typeof globalThis[n] !== "undefined") return "escaped to " + n',
    'node',
  ],
];
