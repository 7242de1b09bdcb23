import MergeCore

/// One row of an edit, with the step of the plan that contains it.
struct EditedRow {
    let edit: RowEdit
    let step: PushPlan.Step

    var resource: Resource { step.edit.resource }
    var section: Section { step.edit.resource.sections[edit.section] }
    /// The position of the edit in the batch, and of its report.
    var index: Int { step.index }
    var id: SectionID { SectionID(resource: step.edit.resource.name, section: edit.section) }
    var place: SectionPlace { SectionPlace(step.edit.resource, edit.section) }
}
