import { createSocket } from 'node:dgram';
import path from 'node:path';

/** A gateway whose name is never resolved. */
export const DEAD_GATEWAY = 'https://gateway.dead.example';

export interface DeadNames {
  /** Environment of the process that is to ask this name server. */
  env: Record<string, string>;
  flags: string[];
  /** How many queries came. */
  asked(): number;
  close(): void;
}

/** A name server on loopback that takes every query and answers none, as domains of token metadata may have. */
export async function deadNames(): Promise<DeadNames> {
  let asked = 0;
  const socket = createSocket('udp4', () => {
    asked += 1;
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    env: { DEAD_NAME_SERVER: `127.0.0.1:${socket.address().port}` },
    flags: ['--import', path.join(import.meta.dirname, 'ask-dead-names.ts')],
    asked: () => asked,
    close: () => void socket.close(),
  };
}
