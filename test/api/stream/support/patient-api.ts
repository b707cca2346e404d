import { runApi } from '../../../../api/run.ts';
import { PATIENCE_MS } from '../../../support/awaited.ts';

/** The process of the API, of which nobody who wants posts beside events begins without them because they took their time. */
await runApi({ postsWaitMs: PATIENCE_MS });
