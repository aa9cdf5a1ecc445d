import { interleavings } from '../kit/chaos.ts';

interleavings(3);
