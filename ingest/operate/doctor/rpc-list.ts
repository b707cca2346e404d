import { RpcError } from '../../../runtime/rpc/error.ts';
import { createRpc } from '../../../runtime/rpc/rpc.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { configAddress } from '../../../schemas/solana/pda.ts';
import { ADDRESSES_PER_READ } from '../../accounts/account-parts.ts';
import { createAccountReader } from '../../accounts/account-reader.ts';
import { belongsInList, lacksOf } from '../../stream/sweeps/list-lacks.ts';
import type { Finding } from './finding.ts';

/** A finding where a node's list of the program's accounts lacks some that the node has; null where nothing says so. */
export async function checkList(
  url: string,
  { programId, commitment }: { programId: string; commitment: 'confirmed' | 'finalized' },
): Promise<Finding | null> {
  const reader = createAccountReader(
    createRpc(url, { commitment }),
    { expectedAt: () => null },
    async () => null,
  );
  const program = decodeKey(programId) as Uint8Array;
  try {
    const listed = await reader.readProgram(programId, 0n);
    const { named, short } = lacksOf(program, listed);
    const config = encodeBase58(configAddress(program));
    if (!listed.some(({ address }) => encodeBase58(address) === config)) named.add(config);
    const [slot = 0n] = listed.map((record) => record.slot);
    const some = await reader.read([...named].slice(0, ADDRESSES_PER_READ), slot);
    const there = some.filter(belongsInList(program));
    if (there.length === 0 && short === 0) return null;
  } catch (error) {
    // Other checks report a node that does not answer, or lists none.
    if (error instanceof RpcError) return null;
    throw error;
  }
  return {
    mark: 'failed',
    text: "accounts: its list of the program's (getProgramAccounts) lacks some that are there: until history is complete counts and sums over all are absent; have it list all, or name another node in its place",
  };
}
