import { createSocket } from 'node:dgram';
import path from 'node:path';

/** A gateway whose name never comes to anything. */
export const DEAD_GATEWAY = 'https://gateway.dead.example';

export interface DeadNames {
  /** For the process that is to ask it, and none else. */
  env: Record<string, string>;
  flags: string[];
  /** Names that were asked for. */
  asked(): number;
  close(): void;
}

/** A name server on loopback that hears every question and answers none: domains of tokens stand behind it. */
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
