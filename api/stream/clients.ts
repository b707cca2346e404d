import { createClient, type StreamClient } from './client.ts';
import { createWaitingBytes } from './waiting-bytes.ts';

export interface ClientLimits {
  most: number;
  mostOfAddress: number;
  heartbeatMs: number;
  /** Most bytes that wait for all clients together. */
  mostWaiting: number;
}

const LIMITS: ClientLimits = {
  most: 5_000,
  mostOfAddress: 100,
  heartbeatMs: 15_000,
  mostWaiting: 128 * 1024 * 1024,
};

export interface Clients {
  /** A connection for this address, or why there is none. */
  open(address: string): StreamClient | 'busy' | 'too many of this address';
  count(): number;
  endAll(reason: string): void;
}

/**
 * All connections of a process, bounded in number, by address, and in what waits for all of them: beyond that the
 * address that has most waiting loses its connection that has most of it. One timer sends all heartbeats.
 */
export function createClients(limits: Partial<ClientLimits> = {}): Clients {
  const { most, mostOfAddress, heartbeatMs, mostWaiting } = { ...LIMITS, ...limits };
  const clients = new Set<StreamClient>();
  const byAddress = new Map<string, Set<StreamClient>>();
  const waiting = createWaitingBytes();
  let beating: NodeJS.Timeout | undefined;

  const cutOne = (): boolean => {
    let [greatest, mostBytes]: [StreamClient | null, number] = [null, 0];
    for (const own of byAddress.values()) {
      const open = [...own].filter((one) => !one.ended());
      const bytes = open.reduce((sum, one) => sum + one.queuedBytes(), 0);
      if (bytes <= mostBytes) continue;
      mostBytes = bytes;
      greatest = open.reduce((first, one) => (one.queuedBytes() > first.queuedBytes() ? one : first));
    }
    greatest?.cut('this client reads too slowly: more waits for all of its address than there is room for');
    return greatest !== null;
  };
  const room = {
    ...waiting,
    add: (bytes: Buffer) => {
      waiting.add(bytes);
      while (waiting.all() > mostWaiting && cutOne());
    },
  };

  const closed = (client: StreamClient, address: string) => {
    if (!clients.delete(client)) return;
    const own = byAddress.get(address);
    own?.delete(client);
    if (own?.size === 0) byAddress.delete(address);
    if (clients.size === 0) {
      clearInterval(beating);
      beating = undefined;
    }
  };
  return {
    open: (address) => {
      if (clients.size >= most) return 'busy';
      const own = byAddress.get(address) ?? new Set();
      if (own.size >= mostOfAddress) return 'too many of this address';
      const client = createClient(room, () => closed(client, address));
      clients.add(client);
      byAddress.set(address, own.add(client));
      beating ??= setInterval(() => {
        for (const one of clients) one.beat();
      }, heartbeatMs);
      return client;
    },
    count: () => clients.size,
    endAll: (reason) => {
      for (const client of clients) client.end(reason);
    },
  };
}
