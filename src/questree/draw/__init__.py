"""Pictures of a world whose truth is known: frames of videos, images of scenes, drawn from vector shapes."""
