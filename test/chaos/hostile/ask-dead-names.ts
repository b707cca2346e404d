import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

/** Preloaded into the product: has every resolver that it makes ask the name server that never answers. */
const server = process.env.DEAD_NAME_SERVER ?? '';

dns.Resolver = class extends dns.Resolver {
  constructor(options?: dns.ResolverOptions) {
    super(options);
    this.setServers([server]);
  }
};
syncBuiltinESMExports();
