import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A TCP proxy in front of another port of this machine, which can harm connections. */
export interface TcpProxy {
  port: number;
  /** Ends every open connection; new ones are accepted. */
  cut(): void;
  /** Ends every open connection, and each new one at once, until `restore`. */
  refuse(): void;
  /** Delays all data by this long, in both directions, until `restore`. */
  delay(millis: number): void;
  restore(): void;
  close(): Promise<void>;
}

export async function startProxy(target: number): Promise<TcpProxy> {
  const open = new Set<net.Socket>();
  let refusing = false;
  let delayMs = 0;

  const forward = async (from: net.Socket, to: net.Socket) => {
    try {
      for await (const chunk of from) {
        if (delayMs > 0) await pause(delayMs);
        if (!to.write(chunk as Buffer)) await once(to, 'drain');
      }
      to.end();
    } catch {
      to.destroy();
    }
  };
  const hold = (socket: net.Socket) => {
    open.add(socket);
    socket.setNoDelay(true);
    // `forward` passes an error of one side on to the other.
    socket.on('error', () => {});
    socket.once('close', () => open.delete(socket));
  };
  const cut = () => {
    for (const socket of open) socket.destroy();
  };

  const server = net.createServer({ allowHalfOpen: true }, (client) => {
    if (refusing) return void client.resetAndDestroy();
    const behind = net.connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    hold(client);
    hold(behind);
    const bothEnd = () => {
      client.destroy();
      behind.destroy();
    };
    client.once('close', bothEnd);
    behind.once('close', bothEnd);
    void forward(client, behind);
    void forward(behind, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    cut,
    refuse: () => {
      refusing = true;
      cut();
    },
    delay: (millis) => {
      delayMs = millis;
    },
    restore: () => {
      refusing = false;
      delayMs = 0;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}
