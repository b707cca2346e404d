/** Rows that count how often a property of any of them is read. */
export function looked<T extends object>(rows: readonly T[]) {
  const counted = { times: 0 };
  const handler: ProxyHandler<T> = {
    get: (row, name) => {
      counted.times += 1;
      return Reflect.get(row, name);
    },
  };
  return { counted, rows: rows.map((row) => new Proxy(row, handler)) };
}
