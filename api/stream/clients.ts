import { createClient, type StreamClient } from './client.ts';

export interface ClientLimits {
  most: number;
  mostOfAddress: number;
  heartbeatMs: number;
}

const LIMITS: ClientLimits = { most: 5_000, mostOfAddress: 100, heartbeatMs: 15_000 };

export interface Clients {
  /** A connection for this address, or why there is none. */
  open(address: string): StreamClient | 'busy' | 'too many of this address';
  count(): number;
  endAll(reason: string): void;
}

/** All connections of a process, bounded in all and by address; one timer beats for all of them. */
export function createClients(limits: Partial<ClientLimits> = {}): Clients {
  const { most, mostOfAddress, heartbeatMs } = { ...LIMITS, ...limits };
  const clients = new Set<StreamClient>();
  const byAddress = new Map<string, number>();
  let beating: NodeJS.Timeout | undefined;

  const closed = (client: StreamClient, address: string) => {
    if (!clients.delete(client)) return;
    const left = (byAddress.get(address) ?? 1) - 1;
    if (left === 0) byAddress.delete(address);
    else byAddress.set(address, left);
    if (clients.size === 0) {
      clearInterval(beating);
      beating = undefined;
    }
  };
  return {
    open: (address) => {
      if (clients.size >= most) return 'busy';
      const ofAddress = byAddress.get(address) ?? 0;
      if (ofAddress >= mostOfAddress) return 'too many of this address';
      const client = createClient(() => closed(client, address));
      clients.add(client);
      byAddress.set(address, ofAddress + 1);
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
