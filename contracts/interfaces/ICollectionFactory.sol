// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title ICollectionFactory
/// @notice Makes collections as clones with immutable arguments, at addresses that are known beforehand.
/// @dev The salt is the request number that the relay appended, and the relay lets a number run once, so a repeated
/// request cannot make a second collection. There is no initialiser that somebody could call first.
interface ICollectionFactory {
    /// @notice A collection was made for this request number.
    event CollectionCreated(uint256 indexed number, address collection);

    /// @notice The base of all hosted URIs was replaced.
    event HostedBaseURIUpdated(string hostedBaseURI);

    /// @notice Thrown when somebody other than the relay creates a collection.
    error FactoryUnauthorizedRelay(address caller);

    /// @notice Thrown when somebody other than the relay's owner changes the hosted base URI.
    error OwnableUnauthorizedAccount(address account);

    /// @notice Thrown when the relay given to the constructor has no code.
    error FactoryInvalidRelay(address relay);

    /// @notice Makes an ERC721 collection. Only the relay may call.
    /// @param args The packed arguments, see {CloneArguments}.
    /// @return collection The collection's address.
    function createERC721(bytes calldata args) external returns (address collection);

    /// @notice Makes an ERC1155 collection. Only the relay may call.
    /// @param args The packed arguments, see {CloneArguments}.
    /// @return collection The collection's address.
    function createERC1155(bytes calldata args) external returns (address collection);

    /// @notice Moves everything that the service hosts to another address. Only the relay's owner may call.
    /// @param newHostedBaseURI The new base, ending in a slash.
    function setHostedBaseURI(string calldata newHostedBaseURI) external;

    /// @notice The address that {createERC721} gives a collection with this number and these arguments.
    function predictERC721(uint256 number, bytes calldata args) external view returns (address);

    /// @notice The address that {createERC1155} gives a collection with this number and these arguments.
    function predictERC1155(uint256 number, bytes calldata args) external view returns (address);

    /// @notice What the URIs of hosted collections start with, for example `https://host/metadata/`.
    function hostedBaseURI() external view returns (string memory);

    /// @notice The relay, the only one that may create collections.
    function relay() external view returns (address);

    /// @notice The code that all ERC721 clones run.
    function erc721Implementation() external view returns (address);

    /// @notice The code that all ERC1155 clones run.
    function erc1155Implementation() external view returns (address);
}
