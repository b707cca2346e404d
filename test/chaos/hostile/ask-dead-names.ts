import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

/** Loaded before the product: every resolver that it makes asks the name server that never answers. */
const server = process.env.DEAD_NAME_SERVER ?? '';

dns.Resolver = class extends dns.Resolver {
  constructor(options?: dns.ResolverOptions) {
    super(options);
    this.setServers([server]);
  }
};
syncBuiltinESMExports();
