/** An admission whose adapter is loaded with the first session that may write. */
import type { CodingAdmission } from '../ports/writers/admission.ts';

export function createLazyAdmission(load: () => Promise<CodingAdmission>): CodingAdmission {
  let loaded: CodingAdmission | undefined;
  return {
    async isAtBaseline() {
      try {
        loaded ??= await load();
        return await loaded.isAtBaseline();
      } catch {
        return false;
      }
    },
    enter: () => loaded?.enter() ?? false,
    leave: () => loaded?.leave(),
  };
}
