import { type Static, Type } from 'typebox';
import { closed } from './parts.ts';

/** `GET /` and `GET /health` */
export const HealthResponse = Type.Object({ ok: Type.Literal(true), service: Type.String() }, closed);
export type HealthResponse = Static<typeof HealthResponse>;
