import type { FlagSpec } from '../../generated/flag.schema.d.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import { ownMember } from '../../model/collections.js';
import type { OwnSchema } from '../parse/own-schema.js';
import { faultDiagnostic } from './diagnostics.js';
import type { SpecOf, SpecSet } from './spec-set.js';

/** The compiler of schemas is loaded only if a flag has one. */
export async function configurationDiagnostics(specs: SpecSet): Promise<Diagnostic[]> {
  const judged = [...specs.flags.values()].filter(
    ({ spec }) => spec.configurationSchema !== undefined,
  );
  if (judged.length === 0) return [];
  const { ownSchemaOf } = await import('../parse/own-schema.js');
  return judged.flatMap((flag) => {
    const overlays = specs.overlays.filter(({ spec }) => spec.flag === flag.spec.flag);
    const from = overlays.map(({ file }) => file);
    return specs.memory.configurations.get(flag.file, from, () => {
      const { file, spec } = flag;
      const schema = ownSchemaOf(spec.configurationSchema ?? {});
      if (schema.ok) return [flag, ...overlays].flatMap((each) => mismatches(each, schema.value));
      const place = { file, path: ['configurationSchema'] };
      return schema.faults.map((fault) => faultDiagnostic(place, fault));
    });
  });
}

/** @param spec of a flag's file, or of an overlay, which has no environments inside. */
function mismatches(
  { file, spec }: SpecOf<Pick<FlagSpec, 'environments'> & Partial<Pick<FlagSpec, 'treatments'>>>,
  faultsIn: OwnSchema,
): Diagnostic[] {
  const blocks = file.keys('environments').map((name) => ({
    path: ['environments', name],
    treatments: ownMember(spec.environments, name)?.treatments,
  }));
  return [{ path: [], treatments: spec.treatments }, ...blocks].flatMap(({ path, treatments }) =>
    Object.entries(treatments ?? {}).flatMap(([name, treatment]) => {
      const { configuration = null } = typeof treatment === 'string' ? {} : treatment;
      // Null takes the configuration away.
      if (configuration === null) return [];
      const place = { file, path: [...path, 'treatments', name, 'configuration'] };
      return faultsIn(configuration).map((fault) =>
        faultDiagnostic(place, {
          ...fault,
          message: `configuration of "${name}" ${fault.message}`,
        }),
      );
    }),
  );
}
