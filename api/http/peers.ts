import type { Server } from 'node:http';
import { clientAddress } from './client-address.ts';

/**
 * Ends connections of a peer beyond `most`: a peer that opened all that there may be would leave no room for others.
 * Only for where peers are the clients themselves.
 */
export function limitPeers(server: Server, most: number): void {
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const peer = clientAddress(socket.remoteAddress, '', 0);
    const count = open.get(peer) ?? 0;
    if (count >= most) {
      socket.destroy();
      return;
    }
    open.set(peer, count + 1);
    socket.once('close', () => {
      const left = (open.get(peer) ?? 1) - 1;
      if (left === 0) open.delete(peer);
      else open.set(peer, left);
    });
  });
}
