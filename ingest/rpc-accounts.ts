import type { Rpc, RpcAccount } from '../runtime/rpc.ts';
import { decodeKey } from '../schemas/base58.ts';
import type { AccountRecord, ExpectedAccount } from '../schemas/records.ts';

/** An rpc read stands at the end of its slot. */
export const RPC_WRITE_VERSION = (1n << 64n) - 1n;
const PER_CALL = 100;
const SYSTEM = new Uint8Array(32);

/** Reads accounts over RPC as records of the log, at a slot that is `notBefore` or later. @throws RpcError */
export interface AccountReader {
  read(addresses: readonly string[], notBefore: bigint): Promise<AccountRecord[]>;
  /** Every account that the program owns. */
  readProgram(programId: string, notBefore: bigint): Promise<{ slot: bigint; records: AccountRecord[] }>;
}

export function createAccountReader(
  rpc: Rpc,
  expectedAt: (address: Uint8Array) => ExpectedAccount | null,
): AccountReader {
  const record = (
    address: string,
    account: RpcAccount | null,
    slot: bigint,
    blockTime: number | null,
  ): AccountRecord => {
    const key = decodeKey(address) as Uint8Array;
    return {
      kind: 'account',
      source: 'rpc',
      slot,
      blockTime,
      address: key,
      owner: account?.owner ?? SYSTEM,
      lamports: account?.lamports ?? 0n,
      data: account?.data ?? new Uint8Array(0),
      writeVersion: RPC_WRITE_VERSION,
      signature: null,
      expected: expectedAt(key),
    };
  };
  return {
    read: async (addresses, notBefore) => {
      const records: AccountRecord[] = [];
      for (let start = 0; start < addresses.length; start += PER_CALL) {
        const some = addresses.slice(start, start + PER_CALL);
        const { slot, accounts } = await rpc.getMultipleAccounts(some, { minContextSlot: notBefore });
        const blockTime = await rpc.getBlockTime(slot);
        some.forEach((address, index) => {
          records.push(record(address, accounts[index] ?? null, slot, blockTime));
        });
      }
      return records;
    },
    readProgram: async (programId, notBefore) => {
      const { slot, accounts } = await rpc.getProgramAccounts(programId, { minContextSlot: notBefore });
      const blockTime = await rpc.getBlockTime(slot);
      return {
        slot,
        records: accounts.map(({ address, account }) => record(address, account, slot, blockTime)),
      };
    },
  };
}
