import net from 'node:net';

/** A port whose new connections go to whatever is put behind it; open ones stay where they are. */
export interface Switchboard {
  port: number;
  /** Has `how` handle each connection from now on. */
  answer(how: (socket: net.Socket) => void): void;
  /** Forwards each connection to this port from now on. */
  connect(port: number): void;
  connections(): number;
  close(): Promise<void>;
}

export async function openSwitchboard(): Promise<Switchboard> {
  let how: (socket: net.Socket) => void = () => {};
  let connections = 0;
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    how(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    answer: (next) => {
      how = next;
    },
    connect: (port) => {
      how = (socket) => {
        const other = net.connect(port, '127.0.0.1');
        sockets.add(other);
        other.on('error', () => socket.destroy());
        other.on('close', () => socket.destroy());
        socket.on('close', () => other.destroy());
        socket.pipe(other).pipe(socket);
      };
    },
    connections: () => connections,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
