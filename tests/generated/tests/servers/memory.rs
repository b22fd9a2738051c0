//! `@modelcontextprotocol/server-memory`: the output type of one tool is the input type of another.

use generated::MemoryClient;
use generated::memory::{
    AddObservations, AddObservationsObservation, CreateEntities, CreateRelations, DeleteEntities,
    Entity, OpenNodes, Relation, SearchNodes,
};

use crate::installed::{command, connect};

#[tokio::test]
async fn graph_is_created_and_searched() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.json");
    let command = command("memory").env("MEMORY_FILE_PATH", &file);
    let memory = MemoryClient::new(&connect(command).await);

    let entity = |name: &str, kind: &str| Entity {
        name: name.into(),
        entity_type: kind.into(),
        observations: vec!["old".into()],
    };
    let entities = [entity("Ada", "person"), entity("Engine", "machine")];
    let created = memory.create_entities(CreateEntities::new(entities.clone()));
    assert_eq!(created.await.unwrap().entities, entities);
    let relation = Relation {
        from: "Ada".into(),
        to: "Engine".into(),
        relation_type: "programs".into(),
    };
    let relations = memory.create_relations(CreateRelations::new([relation.clone()]));
    assert_eq!(relations.await.unwrap().relations, [relation]);
    let observation = AddObservationsObservation::new(["countess".to_owned()], "Ada");
    let added = memory.add_observations(AddObservations::new([observation]));
    let added = added.await.unwrap();
    assert_eq!(added.results[0].added_observations, ["countess"]);

    let found = memory
        .search_nodes(SearchNodes::new("countess"))
        .await
        .unwrap();
    assert_eq!(found.entities[0].name, "Ada");
    let opened = memory
        .open_nodes(OpenNodes::new(["Engine".to_owned()]))
        .await
        .unwrap();
    assert_eq!(opened.entities[0].entity_type, "machine");
    let deleted = memory.delete_entities(DeleteEntities::new(["Ada".to_owned()]));
    assert!(deleted.await.unwrap().success);
    let graph = memory.read_graph().await.unwrap();
    assert_eq!((graph.entities.len(), graph.relations.len()), (1, 0));
}
