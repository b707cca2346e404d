import * as grpc from '@grpc/grpc-js';
import { afterEach, expect, test, vi } from 'vitest';
import { createGeyserClient, type GeyserStream } from '../../../ingest/stream/geyser/client.ts';
import { openSwitchboard } from '../../support/switchboard.ts';

afterEach(() => vi.restoreAllMocks());

test('renewing the connection closes the old one only once its last stream has ended', async () => {
  const board = await openSwitchboard();
  const closed = vi.spyOn(grpc.Client.prototype, 'close');
  const client = createGeyserClient(`127.0.0.1:${board.port}`, null);
  const subscription = { programId: null, addresses: [], commitment: 'confirmed', fromSlot: null } as const;
  const open = (): GeyserStream => client.subscribe(subscription, { onUpdate: () => {}, onEnd: () => {} });
  const [core, beside] = [open(), open()];
  beside.cancel('it ended');
  client.renew();
  expect(closed).not.toHaveBeenCalled();
  const later = open();
  core.cancel('so did this');
  expect(closed).toHaveBeenCalledTimes(1);
  later.cancel('and this, on the connection of now');
  expect(closed).toHaveBeenCalledTimes(1);
  client.renew();
  expect(closed).toHaveBeenCalledTimes(2);
  client.close();
  expect(closed).toHaveBeenCalledTimes(3);
  await board.close();
});
