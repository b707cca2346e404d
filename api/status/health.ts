import type { HealthResponse } from '../../schemas/responses/health.ts';

/** `GET /` and `GET /health`: no database work, so that it answers while the stores are down. */
export function health(service: string): HealthResponse {
  return { ok: true, service };
}
