import { setFlagsFromString } from 'node:v8';

/**
 * V8 allocates objects in the old generation from the start where those of the same allocation site once lived long.
 * After a moment in which many requests waited, that goes for parts of every later request, and all that they point to,
 * 4 to 10 kB each, is kept until a full collection: see docs/performance.md.
 */
setFlagsFromString('--no-allocation-site-pretenuring');
