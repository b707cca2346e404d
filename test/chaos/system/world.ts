import { type Chain, createChain, SLOT_MS } from '../../../devnet/chain/chain.ts';
import { type GeyserServer, serveGeyser } from '../../../devnet/geyser/server.ts';
import { createLife } from '../../../devnet/life/life.ts';
import { keepProducing, makeHistory } from '../../../devnet/pace.ts';
import { type RpcServer, serveRpc } from '../../../devnet/rpc/server.ts';

export interface WorldOptions {
  seed: string;
  policies: number;
  historySlots: number;
  /** Actions a slot, on average. */
  rate: number;
  /** How many slots the stream replays. */
  retentionSlots: number;
}

/** The chain with its servers. No fault harms the chain itself: every answer is compared with it. */
export interface World {
  chain: Chain;
  geyserPort: number;
  rpcUrl: string;
  /** Changes the modes of the stream's server. */
  become: GeyserServer['become'];
  /** Faults of what the stream sends. */
  stream: GeyserServer['faults'];
  node: RpcServer['faults'];
  /** Makes blocks at the pace of the clock until the returned function is called. */
  live(): () => Promise<void>;
  /** Makes so many blocks at once. */
  produce(blocks: number): Promise<void>;
  close(): Promise<void>;
}

export async function createWorld(options: WorldOptions): Promise<World> {
  const { seed, policies, rate, historySlots, retentionSlots } = options;
  const chain = createChain({ dir: null, seed, genesisTime: Date.now() - historySlots * SLOT_MS });
  const life = createLife(chain, { seed, policies, rate });
  await makeHistory(chain, life, historySlots, new AbortController().signal, () => {});
  const geyser = await serveGeyser({ ledger: chain, port: 0, retentionSlots });
  const rpc = await serveRpc({ ledger: chain, port: 0 });
  return {
    chain,
    geyserPort: geyser.port,
    rpcUrl: rpc.url,
    become: geyser.become,
    stream: geyser.faults,
    node: rpc.faults,
    live: () => {
      const stop = new AbortController();
      const living = keepProducing(chain, life, SLOT_MS, stop.signal);
      return () => {
        stop.abort();
        return living;
      };
    },
    produce: async (blocks) => {
      for (let made = 0; made < blocks; made += 1) {
        await chain.produce(life.next());
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    close: async () => {
      await Promise.all([geyser.close(), rpc.close()]);
      chain.close();
    },
  };
}
