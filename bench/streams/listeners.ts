import http from 'node:http';

/** Connections from one address, below what the API allows an address. */
const OF_ADDRESS = 90;
const AT_ONCE = 50;

/**
 * A process of stream clients, from as many addresses of this machine as they need. A message with counts opens so many
 * idle and busy ones; `tell` is answered with when each event arrived at each busy client, with its slot.
 */
const [port = ''] = process.argv.slice(2);
let opened = 0;
let ended = 0;
let heard: [slot: string, at: number][] = [];

function open(path: string, listens: boolean): Promise<void> {
  const localAddress = `127.0.${1 + Math.floor(opened / OF_ADDRESS)}.1`;
  opened += 1;
  return new Promise((resolve, reject) => {
    const request = http.get(
      { host: '127.0.0.1', port: Number(port), path, localAddress, agent: false },
      (answer) => {
        if (answer.statusCode !== 200) return reject(new Error(`a stream was answered ${answer.statusCode}`));
        answer.setEncoding('utf8');
        let rest = '';
        answer.on('data', (chunk: string) => {
          if (!listens) return;
          const at = Date.now();
          const blocks = (rest + chunk).split('\n\n');
          rest = blocks.pop() ?? '';
          for (const block of blocks) {
            const slot = /"slot":"(\d+)"/.exec(block)?.[1];
            if (slot !== undefined) heard.push([slot, at]);
          }
        });
        answer.once('close', () => {
          ended += 1;
        });
        resolve();
      },
    );
    request.once('error', reject);
  });
}

process.on('message', async (asked: { idle: number; busy: number } | { tell: true }) => {
  if ('tell' in asked) {
    process.send?.({ heard, ended });
    heard = [];
    return;
  }
  const paths = [
    ...Array.from({ length: asked.idle }, () => ['/stream/activity?kind=PolicyLocked', false] as const),
    ...Array.from({ length: asked.busy }, () => ['/stream/activity', true] as const),
  ];
  for (let from = 0; from < paths.length; from += AT_ONCE)
    await Promise.all(paths.slice(from, from + AT_ONCE).map(([path, listens]) => open(path, listens)));
  process.send?.({ opened });
});
process.send?.('ready');
